/* SPDX-License-Identifier: MIT */
/* Ends with the low byte of a number that is part of one instruction: LGHI of general register 2. */

int main(void)
{
	return 0x1234;
}

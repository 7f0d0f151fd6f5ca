# SPDX-License-Identifier: MIT
# What starts a program that ends with us.
MAIN := main.c

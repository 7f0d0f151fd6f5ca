/* SPDX-License-Identifier: MIT */
#ifndef LEAKS_H
#define LEAKS_H

/* Memory is no leak that a variable of the program, or of a library, points to; call it once. */
void leaks_read_variables(void);

/* What is taken from here on is a leak unless it is given back: called at the start of each test. */
void leaks_begin(void);

#endif

# SPDX-License-Identifier: MIT
# What starts a program that ends with us.
SOURCES := *.c
MAIN := main.c

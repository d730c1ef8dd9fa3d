export const FILE = 1
export const DIR = 3

/** Encoding of the bytes of a row. */
export const AS_RECEIVED = 0
export const PACKED = 1
export const DELTA = 2

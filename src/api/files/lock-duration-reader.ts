import { integer } from '../../http/index.ts'

/** Longest lock that ends by itself: some three hundred years. */
const LONGEST_LOCK = 10_000_000_000

/** `expire`: seconds, 0 for the server's default, negative for never. */
export const lockSeconds = integer({ default: 0, max: LONGEST_LOCK, message: 'expire invalid.' })

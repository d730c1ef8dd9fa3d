import { flag, oneOf } from '../../http/index.ts'
import type { Kinds } from './folder-listing.ts'

/** `t`: files only or folders only. */
export const kindsOfEntries = oneOf<Kinds>(['f', 'd'], {
  default: 'all',
  message: "'t'(type) should be 'f' or 'd'.",
})

/** `recursive`: everything below the folder. */
export const recursiveOrNot = oneOf(['0', '1'], {
  default: '0',
  message: "If you want to get recursive dir entries, you should set 'recursive' argument as '1'.",
})

/** A wish that nobody is refused for wording badly. */
export const lenientFlag = flag({ lenient: true })

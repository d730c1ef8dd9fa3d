import { flag, oneOf } from '../../../platform/input/index.ts'
import type { Kinds } from './folder-listing.ts'

/** `t`: files only or folders only. */
export const entryTypeQuery = oneOf<Kinds>(['f', 'd'], {
  default: 'all',
  message: "'t'(type) should be 'f' or 'd'.",
})

/** `recursive`: everything below the folder. */
export const recursiveQuery = oneOf(['0', '1'], {
  default: '0',
  message: "If you want to get recursive dir entries, you should set 'recursive' argument as '1'.",
})

/** A flag that treats malformed values as absent. */
export const lenientFlag = flag({ lenient: true })

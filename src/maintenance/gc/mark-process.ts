import { serveSideProcess } from '../../platform/database/index.ts'
import { type MarkOptions, mark } from './mark.ts'

// A side process serves no requests, so it never yields.
const neverYields = { isDue: false, rest: async () => {} }

serveSideProcess((reader, options: MarkOptions) => mark(reader, options, neverYields))

import { serveSideProcess } from '../../platform/database/index.ts'
import { type CountOptions, count } from './count.ts'

// A side process serves no requests, so it never yields.
const neverYields = { isDue: false, rest: async () => {} }

serveSideProcess((reader, options: CountOptions) => count(reader, options, neverYields))

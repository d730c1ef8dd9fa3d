import { serveSideProcess } from '../../platform/database/index.ts'
import { findStalePaths, type StalePathsInput } from './stale-paths.ts'

// A side process serves no requests, so it never yields.
const neverYields = { isDue: false, rest: async () => {} }

serveSideProcess((reader, input: StalePathsInput) => findStalePaths(reader, input, neverYields))

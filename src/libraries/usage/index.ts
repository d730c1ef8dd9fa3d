export { count } from './count.ts'
export { IdSet, SeenIds } from './id-set.ts'
export { ServerState } from './server-state.ts'
export { Statistics } from './statistics.ts'
export { CountingStopped, Usage } from './usage.ts'
export {
  type AccountUsage,
  deleteLibraryUsage,
  findLibraryUsage,
  historyBytesOf,
  type UsageBytes,
  usageRows,
} from './usage-store.ts'

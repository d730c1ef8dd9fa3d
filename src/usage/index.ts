export { ServerState } from './server-state.ts'
export { Statistics } from './statistics.ts'
export { CountingStopped, Usage } from './usage.ts'
export type { AccountUsage, UsageBytes } from './usage-store.ts'

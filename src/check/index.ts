export { type CheckReport, check } from './check.ts'
export type { Finding } from './finding.ts'
export { readIntegrityState } from './integrity-state.ts'
export { registerIntegrityMetrics } from './metrics.ts'

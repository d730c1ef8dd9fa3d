export { GarbageCollector } from './collector.ts'
export { registerGcMetrics } from './metrics.ts'
export type { GcReport } from './report.ts'

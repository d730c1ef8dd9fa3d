export { GarbageCollector } from './collector.ts'

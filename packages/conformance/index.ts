export { type ConformanceOptions, checkConformance } from './command.ts'

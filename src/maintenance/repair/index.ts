export { repair } from './repair.ts'
export type { RepairSource, RepairStep } from './repair-parts.ts'

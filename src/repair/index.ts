export { repair } from './repair.ts'
export type { RepairParts, RepairSource, RepairStep } from './repair-parts.ts'

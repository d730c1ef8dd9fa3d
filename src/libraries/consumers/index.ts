export { CommitConsumer, isGone } from './commit-consumer.ts'
export { positionRows } from './consumer-store.ts'
export {
  type DerivedPosition,
  type DerivedStep,
  type ModuleConsumer,
  refuseDeleted,
} from './derived-module.ts'
export type { Companion, CompanionRows, DerivedRows } from './derived-rows.ts'
export { type LibraryState, listLibraryStates } from './library-state-store.ts'

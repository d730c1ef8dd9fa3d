export { ChoreLog } from './chore-log.ts'
export { CopyMoveTasks, type CopyMoveTasksOptions } from './copy-move-tasks.ts'
export { jobRows } from './dependent-rows-store.ts'
export { Upkeep } from './upkeep.ts'

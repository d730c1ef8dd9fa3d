export { ChoreLog } from './chore-log.ts'
export { CopyMoveTasks, type CopyMoveTasksOptions } from './copy-move-tasks.ts'
export { Upkeep } from './upkeep.ts'

export { CopyMoveTasks, type CopyMoveTasksOptions } from './copy-move-tasks.ts'
export { jobRows } from './dependent-rows-store.ts'
export { Maintenance } from './maintenance.ts'
export { MaintenanceLog } from './maintenance-log.ts'

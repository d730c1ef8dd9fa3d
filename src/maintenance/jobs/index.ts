export { listTaskRoots } from './copy-move-task-store.ts'
export { CopyMoveTasks } from './copy-move-tasks.ts'
export { jobRows } from './dependent-rows-store.ts'
export { Maintenance, type MaintenanceJob, MaintenanceLog } from './maintenance.ts'

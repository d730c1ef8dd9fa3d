export type { TaskProgress } from './copy-move-task.ts'
export { jobRows, listTaskRoots } from './copy-move-task-store.ts'
export { CopyMoveTasks } from './copy-move-tasks.ts'
export { Maintenance, type MaintenanceJob, MaintenanceLog } from './maintenance.ts'

export { exportHistory, notInGit } from './export-history.ts'
export { ExportError, ExportReport } from './export-report.ts'
export { exportTree } from './export-tree.ts'
export { checkRepository, createRepository } from './git-repository.ts'

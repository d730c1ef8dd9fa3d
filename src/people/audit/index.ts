export { type AuditAction, accountAction, isAuditAction, libraryAction } from './actions.ts'
export { Audit, type AuditActor, type AuditedAction } from './audit.ts'
export type { AuditEntry, AuditFilter } from './audit-store.ts'

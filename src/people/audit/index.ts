export { type AuditAction, isAuditAction } from './actions.ts'
export { Audit, type AuditActor, type NewAuditEntry } from './audit.ts'
export type { AuditEntry, AuditFilter } from './audit-store.ts'

export { type AuditAction, isAuditAction } from './actions.ts'
export { Audit, type AuditNote, type Doer } from './audit.ts'
export type { AuditEntry, AuditFilter } from './audit-store.ts'

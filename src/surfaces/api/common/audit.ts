import type { Account } from '../../../people/accounts/index.ts'
import type { HttpRequest } from '../../../platform/http/index.ts'

/** The part of a request that the audit log records. */
export interface AuditedCall {
  readonly user: Account
  readonly request: HttpRequest
}

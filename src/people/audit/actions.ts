/** The audited actions. */
export const auditActions = [
  'login',
  'login-failed',
  'login-code-asked',
  'logout',
  'password-changed',
  'password-reset-requested',
  'second-factor-added',
  'second-factor-removed',
  'recovery-codes-made',
  'trusted-device-removed',
  'api-token-made',
  'api-token-revoked',
  'device-unlinked',
  'device-approved',
  'device-denied',
  'account-made',
  'account-changed',
  'account-deleted',
  'library-made',
  'library-renamed',
  'library-changed',
  'library-transferred',
  'library-deleted',
  'library-restored',
  'library-purged',
  'library-imported',
  'library-exported',
  'history-limit-changed',
  'trash-cleaned',
  'lock-forced',
  'share-made',
  'share-changed',
  'share-ended',
  'link-made',
  'link-changed',
  'link-ended',
  'group-made',
  'group-changed',
  'group-deleted',
  'group-members-changed',
  'library-unlocked',
  'library-locked',
  'library-password-changed',
  'webhook-made',
  'webhook-changed',
  'webhook-removed',
  'tool-called',
  'audit-exported',
] as const

/** An audited action. */
export type AuditAction = (typeof auditActions)[number]

/** The kind of object an action was applied to. */
export type AuditObject = 'account' | 'library' | 'api-token' | 'device' | 'link' | 'group' | 'server'

/** An action on a library, which is named by its id and by its name then. */
export function libraryAction(
  action: AuditAction,
  library: { readonly id: string; readonly name: string },
  detail: Readonly<Record<string, unknown>> = {},
) {
  const objectKind: AuditObject = 'library'
  return { action, objectKind, objectId: library.id, detail: { name: library.name, ...detail } }
}

/** An action on an account. */
export function accountAction(
  action: AuditAction,
  email: string,
  detail?: Readonly<Record<string, unknown>>,
) {
  const objectKind: AuditObject = 'account'
  return { action, objectKind, objectId: email, detail }
}

export function isAuditAction(text: string): text is AuditAction {
  return auditActions.some((action) => action === text)
}

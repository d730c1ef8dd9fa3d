import type { Transaction } from '../../platform/database/index.ts'
import type { Account } from '../accounts/index.ts'
import type { SecondFactorChange } from '../second-factors/index.ts'

/** A credential that outlives the session it was made in, a change of the second factor, or a new address that mails of the account go to. */
interface AddedCredential {
  readonly kind: 'token' | 'device' | 'webdav' | 'library' | 'contact' | SecondFactorChange
  /** The name of the token or program, or the address. */
  readonly name?: string | undefined
  readonly library?: { readonly id: string; readonly name: string } | undefined
  /** The address of the client that it was made by. */
  readonly address: string
}

/** Notifies an account, in the transaction that adds the credential: it may not have been the owner who did. */
export type CredentialNotice = (
  tx: Transaction,
  account: Pick<Account, 'key'>,
  added: AddedCredential,
) => Promise<void>

import type { Transaction } from '../../platform/database/index.ts'
import type { LinkSecrets as Secrets } from './link-secrets.ts'
import { findLinkToken, insertLink, type NewLink } from './link-store.ts'
import { isLinkToken } from './links.ts'

export { LinkSecrets } from './link-secrets.ts'

/** A link of another server. */
interface ImportedLink
  extends Omit<NewLink, 'password' | 'scope' | 'emails' | 'description' | 'request' | 'scopedTokenKey'> {
  /** As the other server stores it: a hash, or the password itself. */
  readonly password: { readonly hash: string } | { readonly text: string } | undefined
  readonly views: number
}

/** False if the token is taken, or not one that this server opens. */
export async function importLink(tx: Transaction, secrets: Secrets, link: ImportedLink): Promise<boolean> {
  const { token, password, views, ...rest } = link
  if (!isLinkToken(token) || (await findLinkToken(tx, token))) return false
  const sealed =
    password === undefined
      ? undefined
      : 'hash' in password
        ? secrets.sealHash(token, password.hash)
        : secrets.seal(token, password.text)
  const own = {
    scope: 'all_users',
    emails: [],
    description: '',
    request: undefined,
    scopedTokenKey: undefined,
  } as const
  await insertLink(tx, { ...rest, ...own, token, password: sealed }, views)
  return true
}

import { CarrelError, type TotpOffer } from '../api/index.ts'
import type { GrantedSession } from './session.tsx'

/** What comes after name and password. */
export type SignInStep =
  /** The code of the second factor is needed. */
  | { readonly kind: 'code' }
  /** The server demands a second factor, and this account has none. */
  | { readonly kind: 'setup'; readonly offer: TotpOffer }
  /** The sign-in succeeded, and there is something to read. */
  | { readonly kind: 'granted'; readonly granted: GrantedSession }

/** The step that a refused sign-in leads to; undefined if the refusal is final. */
export function stepAfter(error: unknown): SignInStep | undefined {
  if (!(error instanceof CarrelError)) return undefined
  if (error.kind === 'otp-needed') return { kind: 'code' }
  const { second_factor_setup: offer } = (error.body ?? {}) as { second_factor_setup?: TotpOffer }
  return offer && { kind: 'setup', offer }
}

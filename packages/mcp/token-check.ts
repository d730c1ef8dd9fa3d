import { hash } from 'node:crypto'
import { Carrel } from '../../sdk/src/index.ts'
import { ClientError, EXIT, userAgent } from '../client/index.ts'
import type { Credentials } from './create-server.ts'

/** How long a checked token is not checked again. Each tool call is checked by the API all the same. */
const CHECKED_MS = 60_000
const MAX_CHECKED = 1000

/** Decides which tokens may be used: those that can read, and are restricted unless the user permits others. */
export class TokenCheck {
  readonly #url: string
  readonly #wholeAccount: boolean
  /** SHA-256 of checked tokens, and until when, by `performance.now`. */
  readonly #checked = new Map<string, number>()

  constructor(url: string, { wholeAccount }: { readonly wholeAccount?: true }) {
    this.#url = url
    this.#wholeAccount = wholeAccount === true
  }

  /** Throws CarrelError if the token is not valid or cannot read, ClientError if it is that of a whole account. */
  async check({ token }: Pick<Credentials, 'token'>, signal: AbortSignal): Promise<void> {
    const key = hash('sha256', token)
    const now = performance.now()
    if ((this.#checked.get(key) ?? 0) > now) return
    const carrel = new Carrel({ url: this.#url, token, userAgent: userAgent('carrel-mcp') })
    await carrel.account({ signal })
    if (!this.#wholeAccount && !(await carrel.isScoped({ signal }))) {
      throw new ClientError(
        'This token can do everything that its account can. Use a personal token that is limited to reading or to one library, or start with --whole-account.',
        EXIT.forbidden,
      )
    }
    if (this.#checked.size >= MAX_CHECKED) this.#checked.clear()
    this.#checked.set(key, now + CHECKED_MS)
  }
}

import { open, readFile, rm } from 'node:fs/promises'

/**
 * The generated password of the first administrator, in a file readable only by the server's user. It is
 * deleted when that account first signs in or gets another password.
 */
export class InitialPasswordFile {
  readonly file: string
  readonly #onError: (error: unknown) => void
  /** Only the first start creates the file, so it never reappears. */
  #isGone = false

  constructor(file: string, onError: (error: unknown) => void = () => {}) {
    this.file = file
    this.#onError = onError
  }

  async write(email: string, password: string): Promise<void> {
    // Created anew, so that the mode is ours and it is neither open elsewhere nor a symbolic link.
    await rm(this.file, { force: true })
    await using handle = await open(this.file, 'wx', 0o600)
    await handle.writeFile(
      `Administrator: ${email}\nPassword: ${password}\nThis file is deleted when the administrator first signs in.\n`,
    )
    await handle.sync()
    this.#isGone = false
  }

  /** Deletes the file if its account has signed in. A sign-in at another node cannot delete it, because each node has its own data folder. */
  async deleteOnceUsed(
    find: (email: string) => Promise<{ readonly lastLoginAt: number | null } | undefined>,
  ): Promise<void> {
    if (this.#isGone) return
    const text = await readFile(this.file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    const email = /^Administrator: (.+)\n/.exec(text ?? '')?.[1]
    const account = email && (await find(email))
    if (account && account.lastLoginAt !== null) await this.deleteFor(email)
  }

  /** Deletes the file if it contains the password of this account. Never rejects. */
  async deleteFor(email: string): Promise<void> {
    if (this.#isGone) return
    try {
      const text = await readFile(this.file, 'utf8')
      if (!text.startsWith(`Administrator: ${email}\n`)) return
      await rm(this.file, { force: true })
      this.#isGone = true
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') this.#isGone = true
      else this.#onError(error)
    }
  }
}

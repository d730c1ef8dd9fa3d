import { type ReactNode, useState } from 'react'
import { CarrelError } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { PasswordField } from '../ui/index.ts'

/**
 * The password of the account, or a code of its app, in a form whose call has to be confirmed. `hint` says why, unless it is about access. It is asked for when the server demands it, which is not the case shortly
 * after a sign-in. The form is then sent again.
 */
export function useConfirmation(hint?: string): {
  /** The field of the form; undefined until the server demands the password. */
  readonly field: ReactNode
  /** Runs the call with the password, if it was asked for. */
  readonly confirmed: <T>(call: (password: string | undefined) => Promise<T>) => Promise<T>
} {
  const texts = useTexts('account')
  const [isAsked, setIsAsked] = useState(false)
  const [password, setPassword] = useState('')

  async function confirmed<T>(call: (password: string | undefined) => Promise<T>): Promise<T> {
    try {
      const result = await call(isAsked ? password : undefined)
      setIsAsked(false)
      setPassword('')
      return result
    } catch (error) {
      if (error instanceof CarrelError && error.kind === 'confirmation-needed') setIsAsked(true)
      throw error
    }
  }

  const field = isAsked ? (
    <PasswordField
      label={texts.oldPassword}
      hint={hint ?? texts.confirmHint}
      autoComplete="current-password"
      autoFocus
      required
      value={password}
      onChange={(event) => setPassword(event.target.value)}
    />
  ) : undefined
  return { field, confirmed }
}

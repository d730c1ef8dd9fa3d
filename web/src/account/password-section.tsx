import { type FormEvent, useState } from 'react'
import { CarrelError, changePassword, endSession, isKept, useAccount } from '../api/index.ts'
import { NewPasswordField, signIn } from '../session/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, PasswordField, useErrorMessage, useToast } from '../ui/index.ts'

const empty = { older: '', newer: '', again: '' }

export function PasswordSection() {
  const texts = useTexts('account')
  const { data: account } = useAccount()
  const [values, setValues] = useState(empty)
  const { busy, failure, change } = useChange(account?.email ?? '')
  const differs = values.again !== '' && values.newer !== values.again
  const isReady = values.older !== '' && values.newer !== '' && values.newer === values.again

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (await change(values.older, values.newer)) setValues(empty)
  }

  const field = (name: keyof typeof empty) => ({
    required: true,
    value: values[name],
    onChange: ({ target }: { target: { value: string } }) => setValues({ ...values, [name]: target.value }),
  })
  return (
    <form className="card account-card stack" onSubmit={(event) => void submit(event)}>
      <h2>{texts.changePassword}</h2>
      <p className="muted">{texts.passwordEffects}</p>
      <input type="hidden" autoComplete="username" value={account?.email ?? ''} readOnly />
      <PasswordField label={texts.oldPassword} autoComplete="current-password" {...field('older')} />
      <NewPasswordField
        label={texts.newPassword}
        names={account === undefined ? [] : [account.email, account.name]}
        {...field('newer')}
      />
      <PasswordField
        label={texts.repeatPassword}
        autoComplete="new-password"
        error={differs && texts.notTheSame}
        {...field('again')}
      />
      {failure && (
        <p className="field-error" role="alert">
          {failure}
        </p>
      )}
      <div>
        <Button type="submit" variant="primary" busy={busy} disabled={!isReady || account === undefined}>
          {texts.changePassword}
        </Button>
      </div>
    </form>
  )
}

/** The server revokes every token with the password, so this browser signs in again. */
function useChange(username: string) {
  const texts = useTexts('account')
  const toast = useToast()
  const refusal = useRefusal()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()

  async function change(older: string, newer: string): Promise<boolean> {
    setBusy(true)
    setFailure(undefined)
    const keep = isKept()
    try {
      await changePassword(older, newer)
    } catch (error) {
      setFailure(refusal(error))
      setBusy(false)
      return false
    }
    try {
      await signIn({ username, password: newer, keep })
    } catch {
      endSession()
    }
    toast({ text: texts.passwordChanged })
    setBusy(false)
    return true
  }

  return { busy, failure, change }
}

function useRefusal(): (error: unknown) => string {
  const texts = useTexts('account')
  const wording = useErrorMessage()
  return (error) => {
    if (!(error instanceof CarrelError)) return wording(error)
    if (error.message.startsWith('Old password')) return texts.wrongPassword
    return /same as old/.test(error.message) ? texts.samePassword : wording(error)
  }
}

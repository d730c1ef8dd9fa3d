import { useState } from 'react'
import { CarrelError, requestPasswordReset } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, ButtonLink, TextField, useErrorMessage } from '../ui/index.ts'
import { SignInCard } from './sign-in-card.tsx'

/** Asks for a link to choose a new password. The answer is the same whether the account exists or not. */
export default function ForgotPassword() {
  const texts = useTexts('session')
  const common = useTexts('common')
  const wording = useErrorMessage()
  const [email, setEmail] = useState('')
  const [busy, setBusy] = useState(false)
  const [sent, setSent] = useState(false)
  const [failure, setFailure] = useState<string>()

  async function ask(): Promise<void> {
    setBusy(true)
    setFailure(undefined)
    try {
      await requestPasswordReset(email.trim())
      setSent(true)
    } catch (error) {
      setFailure(error instanceof CarrelError && error.status === 429 ? texts.tooOften : wording(error))
    } finally {
      setBusy(false)
    }
  }

  return (
    <SignInCard title={texts.forgotTitle} onSubmit={() => void ask()}>
      {sent ? (
        <p role="status">{texts.resetSent(email.trim())}</p>
      ) : (
        <>
          <p className="muted">{texts.forgotHint}</p>
          <TextField
            label={common.email}
            name="username"
            autoComplete="username"
            autoCapitalize="none"
            autoFocus
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
          {failure && (
            <p className="field-error" role="alert">
              {failure}
            </p>
          )}
          <Button type="submit" variant="primary" busy={busy}>
            {texts.sendLink}
          </Button>
        </>
      )}
      <ButtonLink to="/" variant="quiet">
        {texts.backToSignIn}
      </ButtonLink>
    </SignInCard>
  )
}

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { CarrelError, checkMailToken, endSession, setPasswordByToken } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, ButtonLink, useErrorMessage, Waiting } from '../ui/index.ts'
import { NewPasswordField } from './new-password-field.tsx'
import { SignInCard } from './sign-in-card.tsx'

/** Chooses a password with the token of a mail, which is in the fragment of the URL. */
export default function SetPassword() {
  const texts = useTexts('session')
  const common = useTexts('common')
  const wording = useErrorMessage()
  const [token] = useState(() => location.hash.slice(1))
  const [password, setPassword] = useState('')
  const [busy, setBusy] = useState(false)
  const [isSet, setIsSet] = useState(false)
  const [failure, setFailure] = useState<string>()
  const checked = useQuery({
    queryKey: ['mail-token', token],
    queryFn: () => checkMailToken(token),
    staleTime: Infinity,
    retry: false,
  })

  async function save(): Promise<void> {
    setBusy(true)
    setFailure(undefined)
    try {
      await setPasswordByToken(token, password)
      setIsSet(true)
      // A session of this browser has ended with the former password.
      endSession()
    } catch (error) {
      const isLink = error instanceof CarrelError && /^this link/i.test(error.message)
      setFailure(isLink ? texts.linkInvalid : wording(error))
    } finally {
      setBusy(false)
    }
  }

  if (checked.isPending) return <Waiting />
  if (isSet) {
    return (
      <SignInCard title={texts.passwordSetTitle}>
        <p role="status">{texts.passwordSet}</p>
        <ButtonLink to="/" variant="primary">
          {texts.signIn}
        </ButtonLink>
      </SignInCard>
    )
  }
  if (checked.data === undefined || checked.data.purpose === 'contact') {
    return (
      <SignInCard title={texts.linkInvalidTitle}>
        <p role="alert">{texts.linkInvalid}</p>
        <ButtonLink to="/forgot-password" variant="primary">
          {texts.sendLink}
        </ButtonLink>
      </SignInCard>
    )
  }
  return (
    <SignInCard title={texts.choosePassword} onSubmit={() => void save()}>
      <p className="muted">{texts.choosePasswordHint(checked.data.email)}</p>
      <input type="hidden" name="username" autoComplete="username" value={checked.data.email} readOnly />
      <NewPasswordField
        label={common.password}
        name="new-password"
        autoFocus
        required
        names={[checked.data.email]}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      {failure && (
        <p className="field-error" role="alert">
          {failure}
        </p>
      )}
      <Button type="submit" variant="primary" busy={busy} disabled={password === ''}>
        {common.save}
      </Button>
    </SignInCard>
  )
}

import './sign-in.css'
import { type FormEvent, Suspense, useState } from 'react'
import { Link } from 'wouter'
import { CarrelError, sendsMail } from '../api/index.ts'
import { siteUrl } from '../site-url.ts'
import { LanguageOptions, useLanguage, useTexts } from '../texts/index.ts'
import { Button, CheckField, PasswordField, TextField, useErrorMessage, Waiting } from '../ui/index.ts'
import { SecondStep } from './lazy.ts'
import { requestSession } from './session.tsx'
import { type SignInStep, stepAfter } from './sign-in-steps.ts'

export function SignIn() {
  const texts = useTexts('session')
  const common = useTexts('common')
  const shell = useTexts('shell')
  const { language, choose } = useLanguage()
  const wording = useRefusal()
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [keep, setKeep] = useState(true)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const [step, setStep] = useState<SignInStep>()

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    setFailure(undefined)
    try {
      await attempt()
    } catch (error) {
      const next = stepAfter(error)
      setStep(next)
      if (next === undefined) setFailure(wording(error))
    }
    setBusy(false)
  }

  async function attempt(second: { code?: string; trusts?: boolean; setup?: string } = {}): Promise<void> {
    const granted = await requestSession({ username: username.trim(), password, keep, ...second })
    if (granted.recoveryCodes.length === 0 && granted.dueAt === undefined) granted.begin()
    else setStep({ kind: 'granted', granted })
  }

  if (step !== undefined) {
    return (
      <Suspense fallback={<Waiting />}>
        <SecondStep step={step} onAttempt={attempt} onBack={() => setStep(undefined)} />
      </Suspense>
    )
  }

  return (
    <main className="sign-in">
      <form className="sign-in-card card" onSubmit={(event) => void submit(event)}>
        <div className="sign-in-brand">
          <img src={siteUrl('pages/icon.svg').href} alt="" width={44} height={44} />
          <span>{common.appName}</span>
        </div>
        <p className="muted">{texts.lead}</p>
        <h1 className="visually-hidden">{texts.title}</h1>
        <TextField
          label={common.email}
          name="username"
          autoComplete="username"
          autoCapitalize="none"
          autoFocus
          required
          value={username}
          onChange={(event) => setUsername(event.target.value)}
        />
        <PasswordField
          label={common.password}
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <CheckField label={texts.keep} checked={keep} onChange={(event) => setKeep(event.target.checked)} />
        {failure && (
          <p className="field-error" role="alert">
            {failure}
          </p>
        )}
        <Button type="submit" variant="primary" busy={busy}>
          {texts.signIn}
        </Button>
        {sendsMail() && (
          <Link to="/forgot-password" className="sign-in-forgot">
            {texts.forgot}
          </Link>
        )}
      </form>
      <label className="sign-in-language muted">
        <span className="visually-hidden">{shell.language}</span>
        <select className="input" value={language} onChange={(event) => choose(event.target.value)}>
          <LanguageOptions />
        </select>
      </label>
    </main>
  )
}

function useRefusal(): (error: unknown) => string {
  const texts = useTexts('session')
  const wording = useErrorMessage()
  return (error) => {
    if (!(error instanceof CarrelError)) return wording(error)
    if (error.status === 429) return texts.tooOften
    if (error.status !== 400) return wording(error)
    return /disabled/.test(error.message) ? texts.disabled : texts.wrong
  }
}

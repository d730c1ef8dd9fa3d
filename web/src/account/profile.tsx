import { type FormEvent, useState } from 'react'
import { changeProfile, type Profile as ProfileValues, useAccount, useProfile } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, LoadError, Progress, TextField, Waiting } from '../ui/index.ts'
import { Picture } from './picture.tsx'
import { useConfirmation } from './use-confirmation.tsx'
import { useSaving } from './use-saving.ts'

export function Profile() {
  const { data, error, refetch } = useProfile()
  if (data === undefined) {
    return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
  }
  return (
    <div className="account-parts">
      <Picture />
      <ProfileForm key={`${data.name}\n${data.contact_email}`} profile={data} />
      <Space />
    </div>
  )
}

function ProfileForm(props: { profile: ProfileValues }) {
  const { profile } = props
  const texts = useTexts('account')
  const common = useTexts('common')
  const { busy, failure, save } = useSaving()
  const { field, confirmed } = useConfirmation()
  const [name, setName] = useState(profile.name)
  const [contact, setContact] = useState(profile.contact_email)
  const isSame = name.trim() === profile.name && contact.trim() === profile.contact_email

  function submit(event: FormEvent): void {
    event.preventDefault()
    // Only a changed contact email is sent, because the field also shows the default.
    const contactChange = contact.trim() === profile.contact_email ? {} : { contact_email: contact.trim() }
    void save(
      confirmed((password) =>
        changeProfile({ name: name.trim(), ...contactChange, current_password: password }),
      ),
      texts.profileSaved,
    )
  }

  return (
    <form className="card account-card stack" onSubmit={submit}>
      <h2>{texts.profile}</h2>
      <dl className="account-facts">
        <dt>{texts.signInName}</dt>
        <dd>{profile.email}</dd>
        {profile.login_id !== '' && (
          <>
            <dt>{texts.loginId}</dt>
            <dd>{profile.login_id}</dd>
          </>
        )}
      </dl>
      <TextField
        label={common.name}
        hint={texts.nameHint}
        autoComplete="name"
        maxLength={64}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label={texts.contactEmail}
        hint={profile.contact_email_verified ? texts.contactEmailHint : texts.contactEmailUnverified}
        type="email"
        autoComplete="email"
        value={contact}
        onChange={(event) => setContact(event.target.value)}
      />
      {field}
      {failure && (
        <p className="field-error" role="alert">
          {failure}
        </p>
      )}
      <div>
        <Button type="submit" variant="primary" busy={busy} disabled={isSame}>
          {common.save}
        </Button>
      </div>
    </form>
  )
}

function Space() {
  const texts = useTexts('account')
  const shell = useTexts('shell')
  const formats = useFormats()
  const { data } = useAccount()
  if (data === undefined) return null
  const used = formats.size(data.usage)
  const label = data.total > 0 ? shell.usedOf(used, formats.size(data.total)) : shell.used(used)
  return (
    <section className="card account-card stack">
      <h2>{texts.space}</h2>
      {data.total > 0 && <Progress value={data.usage / data.total} label={label} />}
      <p>{label}</p>
      <p className="muted">{texts.spaceHint}</p>
    </section>
  )
}

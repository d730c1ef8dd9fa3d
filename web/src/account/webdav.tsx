import { type FormEvent, useState } from 'react'
import { setWebdavPassword, useSecondFactors, useWebdavPassword } from '../api/index.ts'
import { siteUrl } from '../site-url.ts'
import { useTexts } from '../texts/index.ts'
import { Button, LoadError, PasswordField, Waiting } from '../ui/index.ts'
import { CopyField } from './copy-field.tsx'
import { useConfirmation } from './use-confirmation.tsx'
import { useSaving } from './use-saving.ts'

/** The address for WebDAV clients, and their separate password. */
export function Webdav() {
  const texts = useTexts('account')
  const { data, error, refetch } = useWebdavPassword()
  const { data: factors } = useSecondFactors()
  const [secret, setSecret] = useState('')
  const { busy, failure, save } = useSaving()
  const { field, confirmed } = useConfirmation()
  if (data === undefined) {
    return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (
      await save(
        confirmed((password) => setWebdavPassword(secret, password)),
        texts.webdavSaved,
      )
    )
      setSecret('')
  }

  return (
    <form className="card account-card stack" onSubmit={(event) => void submit(event)}>
      <h2>{texts.webdav}</h2>
      <p className="muted">{texts.webdavHint}</p>
      <CopyField label={texts.webdavAddress} value={siteUrl('dav/').href} />
      <p role="status">
        {data.is_set ? texts.webdavSet : factors?.totp ? texts.webdavNeeded : texts.webdavNotSet}
      </p>
      <PasswordField
        label={texts.webdavPassword}
        hint={texts.webdavRules}
        error={failure}
        autoComplete="new-password"
        required
        maxLength={29}
        value={secret}
        onChange={(event) => setSecret(event.target.value)}
      />
      {field}
      <div className="account-buttons">
        <Button type="submit" variant="primary" busy={busy} disabled={secret === ''}>
          {data.is_set ? texts.webdavReplace : texts.webdavSave}
        </Button>
        {data.is_set && (
          <Button disabled={busy} onClick={() => void save(setWebdavPassword(''), texts.webdavRemoved)}>
            {texts.webdavRemove}
          </Button>
        )}
      </div>
    </form>
  )
}

import { type FormEvent, useState } from 'react'
import { setWebdavPassword, useWebdavPassword } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, LoadError, PasswordField, Waiting } from '../ui/index.ts'
import { useSaving } from './use-saving.ts'

/** The separate password for WebDAV clients. */
export function Webdav() {
  const texts = useTexts('account')
  const { data, error, refetch } = useWebdavPassword()
  const [secret, setSecret] = useState('')
  const { busy, failure, save } = useSaving()
  if (data === undefined) {
    return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (await save(setWebdavPassword(secret), texts.webdavSaved)) setSecret('')
  }

  return (
    <form className="card account-card stack" onSubmit={(event) => void submit(event)}>
      <h2>{texts.webdavPassword}</h2>
      <p className="muted">{texts.webdavHint}</p>
      <p role="status">{data.is_set ? texts.webdavSet : texts.webdavNotSet}</p>
      <PasswordField
        label={texts.newPassword}
        hint={texts.webdavRules}
        error={failure}
        autoComplete="new-password"
        required
        maxLength={29}
        value={secret}
        onChange={(event) => setSecret(event.target.value)}
      />
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

import { type FormEvent, useState } from 'react'
import { setWebdavPassword, useWebdavPassword } from '../api/account.ts'
import { useTexts } from '../texts/texts.tsx'
import { Button } from '../ui/button.tsx'
import { Failed } from '../ui/failed.tsx'
import { PasswordField } from '../ui/field.tsx'
import { Waiting } from '../ui/states.tsx'
import { useSaving } from './use-saving.ts'

/** The second password, for programs that speak WebDAV. */
export function Webdav() {
  const texts = useTexts('account')
  const { data, error, refetch } = useWebdavPassword()
  const [secret, setSecret] = useState('')
  const { busy, failure, save } = useSaving()
  if (data === undefined) {
    return error ? <Failed error={error} onRetry={() => void refetch()} /> : <Waiting />
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

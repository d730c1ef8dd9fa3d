import { changeProfile, type MailNotices, useProfile } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { LoadError, SelectField, Waiting } from '../ui/index.ts'
import { useSaving } from './use-saving.ts'

/** When notifications are mailed. */
export function NotificationMails() {
  const texts = useTexts('account')
  const { data, error, refetch } = useProfile()
  const { busy, failure, save } = useSaving()
  if (data === undefined) {
    return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
  }
  const choose = (choice: MailNotices) =>
    void save(changeProfile({ mail_notices: choice }), texts.notificationsSaved)
  return (
    <section className="card account-card stack">
      <h2>{texts.notifications}</h2>
      <p className="muted">{texts.notificationsHint}</p>
      <SelectField
        label={texts.mailNotices}
        value={data.mail_notices}
        disabled={busy}
        onChange={(event) => choose(event.target.value as MailNotices)}
      >
        <option value="at-once">{texts.mailAtOnce}</option>
        <option value="daily">{texts.mailDaily}</option>
        <option value="off">{texts.mailOff}</option>
      </SelectField>
      {failure && (
        <p className="field-error" role="alert">
          {failure}
        </p>
      )}
    </section>
  )
}

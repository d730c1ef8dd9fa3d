import { type OnboardingItem, type Setup, useOnboarding, useSetup } from '../api/index.ts'
import { siteUrl } from '../site-url.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, ButtonLink, LoadError, Waiting } from '../ui/index.ts'
import { linksWork } from './links-work.ts'
import { Snippet, Steps } from './steps.tsx'
import TestMail from './test-mail.tsx'
import { useDismiss } from './use-dismiss.ts'

type StepName = 'address' | 'backup' | 'mail' | 'users' | 'password'

/** First steps of an administrator. Each shows its state on the server and is ticked by itself. */
export function SetupChecklist(props: { onClose?: () => void }) {
  const texts = useTexts('onboarding')
  const admin = useTexts('admin')
  const setup = useSetup()
  const { data: onboarding } = useOnboarding()
  if (setup.isError) return <LoadError error={setup.error} onRetry={() => void setup.refetch()} />
  if (setup.data === undefined || onboarding === undefined) return <Waiting />
  const { data } = setup
  const isSkipped = (item: OnboardingItem) => onboarding.dismissed.includes(item)
  const step = (name: StepName, done: boolean) => ({
    key: name,
    title: texts.setup[name],
    done,
    skipped: !done && isSkipped(`setup-${name}`),
  })
  const skip = (name: StepName) => <Skip item={`setup-${name}`} skipped={isSkipped(`setup-${name}`)} />
  const browserUrl = siteUrl('').href.replace(/\/$/, '')
  const address = linksWork(data.base_url, browserUrl)
  return (
    <Steps
      title={texts.setupTitle}
      lead={props.onClose && texts.setupLead}
      counted
      closeLabel={texts.hideSetup}
      onClose={props.onClose}
      steps={[
        {
          ...step('password', !data.password_assigned),
          state: data.password_assigned ? texts.passwordAssigned : texts.passwordOwn,
          body: (
            <>
              <p>{texts.passwordHint}</p>
              <div className="onboarding-actions">
                <ButtonLink to="/account/security" variant="primary">
                  {texts.changePassword}
                </ButtonLink>
                {data.password_assigned && skip('password')}
              </div>
            </>
          ),
        },
        {
          ...step('address', address === 'work'),
          state: <bdi>{data.base_url}</bdi>,
          body: (
            <>
              <p>
                {address === 'work' && texts.addressWorks(data.base_url)}
                {address === 'local' && texts.addressLocal(data.base_url)}
                {address === 'differs' && texts.addressDiffers(data.base_url, browserUrl)}
              </p>
              {address !== 'work' && (
                <>
                  <p>{texts.addressSetting}</p>
                  <Snippet
                    text={`CARREL_PUBLIC_URL=${address === 'local' ? 'https://files.example.org' : browserUrl}`}
                    label={texts.copySetting}
                  />
                  <div className="onboarding-actions">{skip('address')}</div>
                </>
              )}
            </>
          ),
        },
        {
          ...step('backup', isBackedUp(data)),
          state: <BackupLine setup={data} />,
          body: (
            <>
              <p>{texts.backupHint}</p>
              {!data.backup.scheduled && (
                <>
                  <p>{texts.backupSetting}</p>
                  <Snippet text="CARREL_BACKUP_TARGET=/mnt/backup" label={texts.copySetting} />
                </>
              )}
              {data.backup.last_backup === null && (
                <>
                  <p>{texts.backupNow}</p>
                  <Snippet text="carrel backup /mnt/backup" label={texts.copyCommand} />
                </>
              )}
              {data.backup.failure && (
                <p className="field-error">{texts.backupFailed(data.backup.failure.message)}</p>
              )}
              {!isBackedUp(data) && <div className="onboarding-actions">{skip('backup')}</div>}
            </>
          ),
        },
        {
          ...step('mail', data.mail.configured && data.mail.last_error === null),
          state: data.mail.configured ? admin.mailWorks : admin.mailNone,
          body: (
            <>
              <p>{texts.mailHint}</p>
              {data.mail.last_error !== null && (
                <p className="field-error">{admin.mailError(data.mail.last_error)}</p>
              )}
              {data.mail.configured ? (
                <TestMail />
              ) : (
                <>
                  <p>{texts.mailSetting}</p>
                  <Snippet
                    text="CARREL_MAIL_URL=smtp://user:password@mail.example.org:587"
                    label={texts.copySetting}
                  />
                  <Snippet text="CARREL_MAIL_FROM=carrel@example.org" label={texts.copySetting} />
                  <div className="onboarding-actions">{skip('mail')}</div>
                </>
              )}
            </>
          ),
        },
        {
          ...step('users', data.accounts > 1),
          state: texts.accounts(data.accounts),
          body: (
            <>
              <p>{texts.usersHint}</p>
              <div className="onboarding-actions">
                <ButtonLink to="/admin/users?new" variant="primary">
                  {texts.newUser}
                </ButtonLink>
                {data.accounts <= 1 && skip('users')}
              </div>
            </>
          ),
        },
      ]}
    />
  )
}

const isBackedUp = ({ backup }: Setup) =>
  backup.scheduled && backup.last_backup !== null && backup.failure === null

function BackupLine({ setup: { backup } }: { setup: Setup }) {
  const texts = useTexts('onboarding')
  const formats = useFormats()
  if (backup.failure) return texts.backupFailing
  if (!backup.scheduled) return texts.backupUnscheduled
  if (backup.last_backup === null) return texts.backupWaiting
  return texts.backupLast(formats.ago(backup.last_backup))
}

function Skip(props: { item: OnboardingItem; skipped: boolean }) {
  const texts = useTexts('onboarding')
  const dismiss = useDismiss()
  return (
    <Button variant="quiet" onClick={() => dismiss(props.item, !props.skipped)}>
      {props.skipped ? texts.unskip : texts.skip}
    </Button>
  )
}

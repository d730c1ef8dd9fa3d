import { AppWindow, KeyRound, MonitorDown, Smartphone, SquareTerminal, Upload } from 'lucide-react'
import { useState } from 'react'
import { useDevices } from '../api/index.ts'
import { canInstall, installApp, isInstalled } from '../offline/index.ts'
import { siteUrl } from '../site-url.ts'
import { useTexts } from '../texts/index.ts'
import { Button, ButtonLink, QrCode } from '../ui/index.ts'
import { Snippet, Steps } from './steps.tsx'

/** First steps of a new user: files, clients, phone. */
export function WelcomeCard(props: {
  email: string
  hasFiles: boolean
  passwordAssigned: boolean
  onUpload: () => void
  onClose: () => void
}) {
  const texts = useTexts('onboarding')
  const { data: devices } = useDevices()
  const [installed, setInstalled] = useState(isInstalled)
  const address = siteUrl('').href.replace(/\/$/, '')
  const has = (...platforms: readonly string[]) =>
    devices?.some(({ platform }) => platforms.includes(platform)) ?? false
  return (
    <Steps
      title={texts.welcomeTitle}
      lead={texts.welcomeLead}
      closeLabel={texts.hideWelcome}
      onClose={props.onClose}
      steps={[
        {
          key: 'upload',
          title: texts.upload,
          icon: Upload,
          done: props.hasFiles,
          body: (
            <>
              <p>{texts.uploadHint}</p>
              <div className="onboarding-actions">
                <Button variant="primary" icon={Upload} onClick={props.onUpload}>
                  {texts.chooseFiles}
                </Button>
              </div>
            </>
          ),
        },
        ...(props.passwordAssigned
          ? [
              {
                key: 'password',
                title: texts.setup.password,
                icon: KeyRound,
                done: false,
                body: (
                  <>
                    <p>{texts.passwordHint}</p>
                    <div className="onboarding-actions">
                      <ButtonLink to="/account/security" variant="primary">
                        {texts.changePassword}
                      </ButtonLink>
                    </div>
                  </>
                ),
              },
            ]
          : []),
        {
          key: 'desktop',
          title: texts.desktop,
          icon: MonitorDown,
          done: has('windows', 'mac', 'linux'),
          body: (
            <>
              <p>{texts.desktopHint}</p>
              <Snippet text={address} label={texts.copyAddress} />
            </>
          ),
        },
        {
          key: 'phone',
          title: texts.phone,
          icon: Smartphone,
          done: has('android', 'ios'),
          body: (
            <div className="onboarding-phone">
              <QrCode text={siteUrl('app/').href} label={texts.qrCode} />
              <p>{texts.phoneHint}</p>
            </div>
          ),
        },
        {
          key: 'install',
          title: texts.install,
          icon: AppWindow,
          done: installed,
          body: (
            <>
              <p>{texts.installHint}</p>
              {canInstall() && (
                <div className="onboarding-actions">
                  <Button
                    variant="primary"
                    onClick={() => void installApp().then(() => setInstalled(isInstalled()))}
                  >
                    {texts.installNow}
                  </Button>
                </div>
              )}
            </>
          ),
        },
        {
          key: 'rclone',
          title: texts.rclone,
          icon: SquareTerminal,
          done: false,
          body: (
            <>
              <p>{texts.rcloneHint}</p>
              <Snippet
                text={`rclone config create carrel seafile url=${address} user=${props.email} pass=PASSWORD --obscure`}
                label={texts.copyCommand}
              />
            </>
          ),
        },
      ]}
    />
  )
}

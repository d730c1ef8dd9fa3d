import { useTexts } from '../texts/index.ts'
import { Button, Dialog } from '../ui/index.ts'
import type { TextSession } from './use-text-session.ts'

/** Asks before unsaved changes are discarded. */
export function LeaveDialog(props: { session: TextSession; onClose: () => void; onLeave: () => void }) {
  const { session, onClose, onLeave } = props
  const texts = useTexts('viewer')
  async function saveAndLeave(): Promise<void> {
    if (await session.save()) onLeave()
    else onClose()
  }
  return (
    <Dialog
      title={texts.leaveTitle}
      onClose={onClose}
      foot={
        <>
          <Button
            onClick={() => {
              session.reload()
              onLeave()
            }}
          >
            {texts.discard}
          </Button>
          {session.isStored === true && <Button onClick={onLeave}>{texts.keepDraft}</Button>}
          <Button variant="primary" busy={session.busy} onClick={() => void saveAndLeave()}>
            {texts.saveFirst}
          </Button>
        </>
      }
    >
      <p>{texts.leaveHint}</p>
    </Dialog>
  )
}

import { useQueryClient } from '@tanstack/react-query'
import { ImageUp, Trash2 } from 'lucide-react'
import { type ChangeEvent, useEffect, useRef, useState } from 'react'
import { putAvatar, removeAvatar, useAccount } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Avatar, Button, FormDialog, useFailureToast, useToast } from '../ui/index.ts'
import { squarePicture } from './square-picture.ts'

/** The user's profile picture. */
export function Picture() {
  const texts = useTexts('account')
  const { data: account } = useAccount()
  const [chosen, setChosen] = useState<Blob>()
  const { choose, remove } = usePictureActs(setChosen)
  const input = useRef<HTMLInputElement>(null)
  const hasOwn = account !== undefined && !account.avatar_url.endsWith('/default.png')
  return (
    <section className="card account-card account-picture">
      <Avatar email={account?.email ?? ''} name={account?.name} url={account?.avatar_url} size={88} />
      <div className="stack">
        <h2>{texts.picture}</h2>
        <p className="muted">{texts.pictureHint}</p>
        <div className="account-buttons">
          <Button icon={ImageUp} onClick={() => input.current?.click()}>
            {texts.choosePicture}
          </Button>
          {hasOwn && (
            <Button variant="quiet" icon={Trash2} onClick={() => void remove()}>
              {texts.removePicture}
            </Button>
          )}
          <input
            ref={input}
            hidden
            type="file"
            accept="image/*"
            aria-label={texts.choosePicture}
            onChange={(event) => void choose(event)}
          />
        </div>
      </div>
      {chosen && <PreviewDialog picture={chosen} onClose={() => setChosen(undefined)} />}
    </section>
  )
}

function usePictureActs(onChosen: (picture: Blob) => void) {
  const texts = useTexts('account')
  const refresh = useRefresh()
  const toast = useToast()
  const failed = useFailureToast()

  async function choose({ target }: ChangeEvent<HTMLInputElement>): Promise<void> {
    const [file] = target.files ?? []
    if (file === undefined) return
    try {
      onChosen(await squarePicture(file))
    } catch {
      toast({ text: texts.pictureUnreadable, bad: true })
    }
    // Reset, so that the same file can be selected again.
    target.value = ''
  }

  async function remove(): Promise<void> {
    try {
      await removeAvatar()
      await refresh()
      toast({ text: texts.pictureRemoved })
    } catch (error) {
      failed(error)
    }
  }

  return { choose, remove }
}

function PreviewDialog(props: { picture: Blob; onClose: () => void }) {
  const { picture } = props
  const texts = useTexts('account')
  const toast = useToast()
  const refresh = useRefresh()
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const made = URL.createObjectURL(picture)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [picture])
  async function save(): Promise<void> {
    await putAvatar(picture)
    await refresh()
    toast({ text: texts.pictureSaved })
  }
  return (
    <FormDialog title={texts.newPicture} submit={texts.usePicture} onSubmit={save} onClose={props.onClose}>
      {url && (
        <img
          className="avatar account-preview"
          src={url}
          alt={texts.picturePreview}
          width={160}
          height={160}
        />
      )}
    </FormDialog>
  )
}

function useRefresh(): () => Promise<void> {
  const queries = useQueryClient()
  return async () => {
    void queries.invalidateQueries({ queryKey: ['avatar'] })
    await queries.invalidateQueries({ queryKey: ['account'] })
  }
}

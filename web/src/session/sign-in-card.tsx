import './sign-in.css'
import type { FormEvent, ReactNode } from 'react'
import { siteUrl } from '../site-url.ts'
import { useTexts } from '../texts/index.ts'

/** The card of a page for people who are not signed in. */
export function SignInCard(props: { title: string; onSubmit?: () => void; children: ReactNode }) {
  const common = useTexts('common')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    props.onSubmit?.()
  }
  return (
    <main className="sign-in">
      <form className="sign-in-card card" onSubmit={submit}>
        <div className="sign-in-brand">
          <img src={siteUrl('pages/icon.svg').href} alt="" width={44} height={44} />
          <span>{common.appName}</span>
        </div>
        <h1 className="sign-in-title">{props.title}</h1>
        {props.children}
      </form>
    </main>
  )
}

import './sharing.css'
import { Tabs } from 'radix-ui'
import { Redirect, useSearchParams } from 'wouter'
import { useTexts } from '../texts/index.ts'
import { TabList, useTitle } from '../ui/index.ts'
import { OwnLinks } from './own-links.tsx'
import { SharedByMe } from './shared-by-me.tsx'

const tabs = ['by-me', 'share', 'upload'] as const
type TabName = (typeof tabs)[number]

/** The user's links and shares. The tab is part of the URL. */
export default function LinksPage() {
  const texts = useTexts('sharing')
  useTitle(texts.linksTitle)
  const [params, setParams] = useSearchParams()
  const current = tabs.find((tab) => tab === params.get('tab')) ?? 'share'
  const labels: Record<TabName, string> = {
    share: texts.shareLinks,
    upload: texts.uploadLinks,
    'by-me': texts.sharedByMe,
  }
  // The address of an earlier version.
  if (params.get('tab') === 'with-me') return <Redirect to="/shared" replace />
  return (
    <div className="page">
      <div className="page-head">
        <h1>{texts.linksTitle}</h1>
      </div>
      <Tabs.Root
        className="stack"
        value={current}
        onValueChange={(tab) => setParams(tab === 'share' ? {} : { tab })}
      >
        <TabList label={texts.linksTitle} names={tabs} labels={labels} current={current} />
        <Tabs.Content value="share" className="stack">
          <OwnLinks kind="share" />
        </Tabs.Content>
        <Tabs.Content value="upload" className="stack">
          <OwnLinks kind="upload" />
        </Tabs.Content>
        <Tabs.Content value="by-me" className="stack">
          <SharedByMe />
        </Tabs.Content>
      </Tabs.Root>
    </div>
  )
}

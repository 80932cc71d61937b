/** A page whose socket can be cut, and stays so. */
async function cuttable(page) {
  let isCut = false
  await page.routeWebSocket(/\/sync/, (socket) => {
    if (isCut) return socket.close()
    const server = socket.connectToServer()
    page.cut = () => {
      isCut = true
      server.close()
      socket.close()
    }
  })
}

async function talkWithMira(page) {
  await page.getByRole('link', { name: /Mira/ }).click()
  await page.locator('.write input').fill('Two of us look at it now.')
  await page.keyboard.press('Enter')
  await page.locator('.word').nth(2).waitFor()
}

/** What is worth a picture besides the panels as they open: where to go, and what to do there first. */
export async function scenesOf({ url, token }) {
  const get = async (path) => (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).json()
  const { asks } = await get('/api/asks')
  const runs = await get('/api/runs?limit=100')
  const flows = await get('/api/workflow-runs')
  const ask = (fits) => `/inbox/${asks.find(fits)?.id ?? ''}`
  const run = (fits) => runs.find(fits)?.id ?? ''
  const key = (name) => (page) => page.keyboard.press(name)
  return [
    { name: 'ask-diff', path: ask((one) => one.subject?.arguments?.old_string) },
    { name: 'ask-command', path: ask((one) => one.risk === 'high'), sample: true },
    { name: 'ask-choice', path: ask((one) => one.questions?.length) },
    { name: 'ask-tool', path: ask((one) => one.subject?.tool.startsWith('tracker')) },
    { name: 'ask-report', path: ask((one) => one.kind === 'report') },
    {
      name: 'ask-why',
      path: ask((one) => one.subject?.arguments?.old_string),
      act: (page) => page.getByText(/^(Exact content|原始内容)$/).click(),
    },
    { name: 'thread', path: `/threads/${runs.find((one) => one.thread_id && one.status === 'waiting')?.thread_id}`, sample: true },
    { name: 'thread-invite', path: '/threads', desk: true, act: key('i') },
    { name: 'thread-diagram', path: `/threads/${runs.find((one) => one.prompt.includes('mermaid'))?.thread_id}` },
    { name: 'run', path: `/runs/${run((one) => one.prompt.includes('guard.py'))}` },
    { name: 'run-waiting', path: `/runs/${run((one) => one.status === 'waiting')}` },
    { name: 'run-tree', path: `/runs/${run((one) => one.prompt.includes('spawn_agent'))}?tab=tree` },
    {
      name: 'run-terminal',
      path: `/runs/${run((one) => one.profile === 'console')}?tab=terminal`,
      act: (page) => page.locator('.xterm-rows', { hasText: 'passed' }).waitFor(),
    },
    { name: 'workflow-run', path: `/workflows/runs/${(flows.runs ?? flows)[0]?.id}`, sample: true },
    {
      name: 'workflow-step',
      path: `/workflows/runs/${(flows.runs ?? flows)[0]?.id}`,
      act: (page) => page.locator('.vue-flow__node').first().click(),
    },
    { name: 'workflow-edit', sample: true, path: '/workflows/edit/release', act: (page) => page.locator('.vue-flow__node').nth(2).click() },
    { name: 'workflow-new', path: '/workflows/edit' },
    { name: 'workflow-start', path: '/workflows?start=release' },
    { name: 'compare', path: `/runs/${run((one) => one.prompt.includes('guard.py'))}?with=any` },
    { name: 'tool', sample: true, path: '/tools/tracker/close_issue' },
    { name: 'server-new', path: '/tools?do=new' },
    { name: 'talk', path: '/people', act: talkWithMira },
    { name: 'device', path: '/people?do=type' },
    { name: 'machine-new', path: '/nodes?do=join' },
    { name: 'rule', sample: true, path: '/policies/publishing' },
    { name: 'profile', sample: true, path: '/profiles/builder' },
    { name: 'profile-new', path: '/profiles?new=' },
    { name: 'agent', path: `/agents/${runs.find((one) => one.status === 'waiting')?.agent_id}` },
    { name: 'pair', path: '/access?do=pair' },
    { name: 'token-new', path: '/access?do=new' },
    {
      name: 'home-known',
      path: '/',
      act: (page) =>
        page
          .getByRole('button', { name: /^(Not now|暂不)$/ })
          .last()
          .click(),
    },
    { name: 'palette', path: '/', act: key('Control+k'), sample: true },
    { name: 'search', path: '/threads?search=guard' },
    { name: 'help', path: '/inbox', desk: true, act: key('?') },
    { name: 'tour', path: '/?tour=1', sample: true, after: (page) => page.evaluate(() => localStorage.removeItem('greenroom.tour')) },
    { name: 'phone-more', path: '/', phone: true, act: (page) => page.locator('nav.foot button').click() },
    { name: 'lost', path: '/', before: cuttable, act: (page) => page.cut(), settle_ms: 3000, sample: true },
    { name: 'login', path: '/login', out: true, sample: true },
  ]
}

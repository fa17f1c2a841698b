package rules

// bystanders are command lines of programs that are no MCP servers, as they are
// seen on machines where people develop software. No rule matches one of them.
// Words have no spaces in them here; a first one without a slash is a program in
// /usr/bin.
const bystanders = `
	/usr/share/code/code .
	/usr/share/code/code --type=renderer
	cursor .
	vim main.go
	nvim --embed
	emacs --daemon
	gnome-shell
	/usr/libexec/gnome-terminal-server
	/usr/libexec/gnome-session-binary --session=ubuntu
	plasmashell
	/usr/lib/firefox/firefox -contentproc
	/opt/google/chrome/chrome --type=renderer
	claude
	claude mcp serve
	codex
	codex mcp-server
	gemini
	cursor-agent

	gopls
	gopls serve
	gopls -mode=stdio
	rust-analyzer
	clangd --background-index
	lua-language-server
	marksman server
	terraform-ls serve
	docker-langserver --stdio
	zls
	ruff server
	biome lsp-proxy
	dlv dap
	/opt/idea/bin/fsnotifier64
	ruby /usr/bin/solargraph stdio
	php /usr/bin/phpactor language-server
	git status
	gh auth login
	rg --json mcp
	grep -r mcp .
	tail -f mcp.log
	less mcp.log
	curl http://localhost
	sqlite3 data.db
	psql
	postgres -D /var/lib/postgresql
	redis-server
	mysqld
	mongod
	nginx
	caddy run
	hugo server
	ollama serve
	terraform apply
	kubectl port-forward
	kubectl proxy
	dockerd
	containerd
	dotnet build
	dotnet run
	dotnet test
	ruby bin/rails server
	ruby script/server.rb
	php artisan serve
	php -S localhost:8000
	perl script.pl
	Rscript server.R
	julia main.jl

	python3 main.py
	python3 app.py
	python3 server.py
	python3 src/server.py
	python3 test_server.py
	python3 manage.py runserver
	python3 setup.py install
	python3 -m http.server
	python3 -m venv .venv
	python3 -m pip install mcp
	python3 -m pytest -q
	python3 -m unittest
	python3 -m build
	python3 -m flask run
	python3 -m uvicorn main:app
	python3 -m debugpy --listen 5678
	python3 -m debugpy.adapter
	python3 -m ipykernel_launcher -f kernel.json
	python3 -m mypy .
	python3 -m black .
	python3 -m pylsp
	python3 -m jupyter lab
	python3 /usr/bin/pytest -q
	python3 /w/.venv/bin/pytest
	python3 /w/.venv/lib/python3.11/site-packages/pytest/__main__.py
	python3 /w/.venv/bin/tox
	python3 /w/.venv/bin/uvicorn main:app --reload
	python3 /w/.venv/bin/gunicorn app:app
	python3 /w/.venv/bin/flask run
	python3 /w/.venv/bin/celery worker
	python3 /w/.venv/bin/django-admin runserver
	python3 /w/.venv/bin/streamlit run app.py
	python3 /w/.venv/bin/mypy .
	python3 /w/.venv/bin/ruff check
	python3 /w/.venv/bin/black .
	python3 /w/.venv/bin/pylint src
	python3 /w/.venv/bin/pylsp
	python3 /w/.venv/bin/pyright-langserver --stdio
	python3 /w/.venv/bin/jedi-language-server
	python3 /w/.venv/bin/ansible-playbook site.yml
	python3 /w/.venv/bin/mkdocs serve
	python3 /w/.venv/bin/sphinx-build
	python3 /w/.venv/bin/pre-commit run
	python3 /w/.venv/bin/jupyter-lab
	python3 /w/.venv/bin/ipython
	python3 /w/.venv/bin/aider
	python3 /opt/pycharm/plugins/python/helpers/pycharm/_jb_pytest_runner.py
	python3 /home/u/.vscode/extensions/ms-python.python-2026.1/python_files/run-jedi-language-server.py
	python3 /home/u/.vscode/extensions/ms-python.python-2026.1/python_files/vscode_pytest/run_pytest_script.py
	python3 /usr/bin/networkd-dispatcher
	python3 /usr/bin/unattended-upgrade
	python3 /usr/bin/blueman-applet
	python3 /usr/bin/terminator
	python3 /usr/bin/gnome-tweaks
	python3 /usr/bin/supervisord
	python3 /usr/share/system-config-printer/applet.py

	node index.js
	node server.js
	node app.js
	node main.js
	node src/index.js
	node dist/index.js
	node dist/main.js
	node dist/server.js
	node build/index.js
	node projects/server.js
	node .next/standalone/server.js
	node /w/node_modules/.bin/jest
	node /w/node_modules/.bin/vitest
	node /w/node_modules/.bin/mocha
	node /w/node_modules/.bin/ava
	node /w/node_modules/.bin/playwright test
	node /w/node_modules/.bin/cypress open
	node /w/node_modules/.bin/tsc -w
	node /w/node_modules/.bin/tsserver
	node /w/node_modules/.bin/tsx watch
	node /w/node_modules/.bin/ts-node
	node /w/node_modules/.bin/eslint .
	node /w/node_modules/.bin/prettier .
	node /w/node_modules/.bin/vite
	node /w/node_modules/.bin/next dev
	node /w/node_modules/.bin/nuxt dev
	node /w/node_modules/.bin/astro dev
	node /w/node_modules/.bin/ng serve
	node /w/node_modules/.bin/webpack serve
	node /w/node_modules/.bin/rollup -c
	node /w/node_modules/.bin/esbuild
	node /w/node_modules/.bin/nodemon
	node /w/node_modules/.bin/concurrently
	node /w/node_modules/.bin/turbo run
	node /w/node_modules/.bin/nx serve
	node /w/node_modules/.bin/storybook dev
	node /w/node_modules/.bin/react-scripts start
	node /w/node_modules/.bin/gulp
	node /w/node_modules/.bin/grunt
	node /w/node_modules/.bin/serve
	node /w/node_modules/.bin/http-server
	node /w/node_modules/.bin/json-server
	node /w/node_modules/.bin/mcp-inspector
	node /w/node_modules/.bin/typescript-language-server --stdio
	node /w/node_modules/.bin/pyright-langserver --stdio
	node /w/node_modules/.bin/vscode-json-language-server --stdio
	node /w/node_modules/.bin/bash-language-server start
	node /w/node_modules/.bin/yaml-language-server --stdio
	node /w/node_modules/jest/bin/jest.js
	node /w/node_modules/jest-worker/build/workers/processChild.js
	node /w/node_modules/vitest/vitest.mjs
	node /w/node_modules/vitest/dist/cli.js
	node /w/node_modules/vitest/dist/workers/forks.js
	node /w/node_modules/mocha/bin/mocha.js
	node /w/node_modules/mocha/bin/_mocha
	node /w/node_modules/@playwright/test/cli.js test
	node /w/node_modules/playwright/cli.js test
	node /w/node_modules/typescript/lib/tsserver.js --stdio
	node /w/node_modules/typescript/bin/tsc
	node /w/node_modules/webpack/bin/webpack.js serve
	node /w/node_modules/next/dist/bin/next dev
	node /w/node_modules/next/dist/server/lib/start-server.js
	node /w/node_modules/vite/bin/vite.js
	node /w/node_modules/eslint/bin/eslint.js
	node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js
	node /usr/lib/node_modules/@openai/codex/bin/codex.js
	node /usr/lib/node_modules/@google/gemini-cli/dist/index.js
	node /usr/lib/node_modules/@github/copilot/index.js
	node /usr/lib/node_modules/npm/bin/npm-cli.js install
	node /usr/lib/node_modules/pm2/lib/Daemon.js
	node /usr/local/bin/claude
	node /usr/local/bin/codex
	node /usr/local/bin/gemini
	node /home/u/.vscode-server/bin/0f0d87fa9e96/out/server-main.js
	node /home/u/.vscode-server/bin/0f0d87fa9e96/out/bootstrap-fork.js --type=extensionHost
	node /home/u/.vscode/extensions/dbaeumer.vscode-eslint-3.0.10/server/out/eslintServer.js --stdio
	node /home/u/.vscode/extensions/ms-python.vscode-pylance-2026.1/dist/server.bundle.js
	node /home/u/.vscode/extensions/github.copilot-1.0/dist/language-server.js --stdio
	node /usr/lib/code-server/out/node/entry.js

	java -jar app.jar
	java -jar jenkins.war
	java -jar plantuml.jar
	java -jar /opt/jdtls/plugins/org.eclipse.equinox.launcher_1.6.900.jar
	java -jar /w/gradle/wrapper/gradle-wrapper.jar test
	java -cp gradle.jar org.gradle.launcher.daemon.bootstrap.GradleDaemon 8.5
	java -cp gradle.jar org.gradle.wrapper.GradleWrapperMain test
	java -cp gradle.jar worker.org.gradle.process.internal.worker.GradleWorkerMain
	java -cp maven.jar org.codehaus.plexus.classworlds.launcher.Launcher test
	java -cp junit.jar org.junit.platform.console.ConsoleLauncher
	java -cp idea.jar com.intellij.idea.Main
	java -cp kotlin.jar org.jetbrains.kotlin.daemon.KotlinCompileDaemon
	java -cp tomcat.jar org.apache.catalina.startup.Bootstrap start
	java -cp kafka.jar kafka.Kafka
	java -cp es.jar org.elasticsearch.bootstrap.Elasticsearch

	docker run -i alpine
	docker run -i ubuntu bash
	docker run -i debian
	docker run -i fedora
	docker run -i busybox
	docker run -i python:3.13 python
	docker run -i node:22 node
	docker run -i golang
	docker run -i rust
	docker run -i postgres
	docker run -i redis
	docker run -i mysql
	docker run -i mongo
	docker run -i nginx
	docker run -i ghcr.io/astral-sh/uv
	docker run -i mcr.microsoft.com/devcontainers/base
	docker run -i mcr.microsoft.com/playwright
`

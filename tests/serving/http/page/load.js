'use strict';
// The page's scripts that need no document.
const fs = require('node:fs');
const path = require('node:path');

const PAGE = path.join(__dirname, '../../../../kuiper/serving/http/page');
const template = fs.readFileSync(path.join(PAGE, 'template.html'), 'utf8');
const scripts = [...template.matchAll(/<script src="([\w./]+)">/g)].map(found => found[1]);
for (const script of ['../../../language.js', 'events.js', 'steps.js']) require(path.join(PAGE, script));

module.exports = { PAGE, scripts };

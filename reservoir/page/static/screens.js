"use strict";
// All screens, in the order of their tabs.
import {start} from "./page.js";
import "./plan.js";

start();
